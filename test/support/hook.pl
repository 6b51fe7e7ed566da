#!/usr/bin/perl
# The hook of fault tests: hook.pl PHASE. Writes each of its steps immediately to the events file next to it; see
# hook-log.ts. A successful takeover leaves a workload behind, in its own process group: a loop that beats until
# it is killed. Every process ends when the folder is removed or the test process exits.
#
# Perl, because it can read CLOCK_MONOTONIC, starts in milliseconds, and comes with git.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_REALTIME sleep);

my $begun_at = clock_gettime(CLOCK_MONOTONIC);
my ($dir, $phase) = ($0 =~ s{/[^/]*$}{}r, $ARGV[0]);
my ($node, $term, $token) = map { $ENV{"PETREL_$_"} // '' } qw(NODE TERM FENCING_TOKEN);
my $slot = $ENV{PETREL_SLOT} // 1;
my $owner = first_line("$dir/owner");
my %behaviour = (take_ms => 0, exit_code => 0, hang => 0, stubborn => 0, leave => 0, odd => 0);
my $beat_seconds = 0.05;

sub first_line {
  open my $file, '<', $_[0] or return '';
  my $line = <$file> // '';
  chomp $line;
  return $line;
}

# One write to a file opened for appending: lines never mix, and their order is nearly that of the events.
sub note {
  my ($event, %more) = @_;
  my $at = $more{at} // clock_gettime(CLOCK_MONOTONIC);
  my $line = sprintf
    '{"node":"%s","slot":%d,"phase":"%s","event":"%s","term":%d,"token":"%s","at":%.6f,"monotonicMs":%.3f,"exitCode":%s,"alive":[%s]}' . "\n",
    $more{node} // $node, $more{slot} // $slot, $phase, $event, $term || 0, $more{token} // $token, clock_gettime(CLOCK_REALTIME),
    $at * 1000, $more{exitCode} // 'null', join ',', @{ $more{alive} // [] };
  open my $events, '>>', "$dir/events" or return;
  syswrite $events, $line;
}

# Whether the test still runs and has not removed the folder.
sub wanted { -e "$dir/owner" && -d "/proc/$owner" }

# State and start time of a process. Empty if it is gone. A process whose main thread has ended looks like a zombie, but
# sleeps or runs as long as it has other threads.
sub look {
  my $line = first_line("/proc/$_[0]/stat") or return;
  my @fields = split ' ', $line =~ s/^.*\) //r;
  my ($state, $threads, $started) = @fields[0, 17, 19];
  return ($state eq 'Z' && $threads > 1 ? 'S' : $state, $started);
}

# The line of one beat of an odd workload. The two times are left open.
sub odd_beat {
  return sprintf
    '{"node":"%s","slot":%d,"phase":"%s","event":"beat","term":%d,"token":"%s","at":%%.6f,"monotonicMs":%%.3f,"exitCode":null,"alive":[]}',
    $node, $slot, $phase, $term || 0, $token;
}

# Starts a process that beats until it is killed. Returns its id.
sub start_beating {
  my $pid = fork // die "cannot fork: $!";
  if ($pid == 0) {
    open STDIN, '<', '/dev/null';
    open STDOUT, '>', '/dev/null';
    open STDERR, '>', '/dev/null';
    if ($behaviour{odd}) { exec 'python3', "$dir/odd_workload.py", "$dir/events", "$dir/owner", odd_beat(), $behaviour{odd}; exit 1 }
    $SIG{TERM} = $behaviour{stubborn} || $behaviour{hang} ? 'IGNORE' : 'DEFAULT';
    while (wanted()) { note('beat'); sleep $beat_seconds }
    exit 0;
  }
  my (undef, $started) = look($pid);
  if (open my $file, '>', "$dir/alive/$pid") { printf $file "%s %d %s %s\n", $node, $slot, $token || '-', $started // '' }
  return $pid;
}

# Process id, state, node, slot and token of every process that beats.
sub beating {
  my @found;
  for my $file (glob "$dir/alive/*") {
    my ($of_node, $of_slot, $of_token, $since) = split ' ', first_line($file);
    my $pid = $file =~ s{.*/}{}r;
    my ($state, $started) = look($pid);
    next unless defined $started && defined $since && $started eq $since;
    push @found,
      { pid => $pid, state => $state, node => $of_node, slot => $of_slot, token => $of_token eq '-' ? '' : $of_token };
  }
  return @found;
}

# Kills the process, and returns once it is dead.
sub end {
  my ($pid) = @_;
  kill KILL => $pid;
  for (;;) {
    my ($state) = look($pid);
    last if !defined $state || $state eq 'Z';
    sleep 0.005;
  }
  unlink "$dir/alive/$pid";
}

sub end_own { end($_->{pid}) for grep { $_->{node} eq $node && $_->{token} eq $token } beating() }

sub behave {
  if ($behaviour{hang}) {
    while (wanted()) { sleep 1 }
  }
  sleep $behaviour{take_ms} / 1000 if $behaviour{take_ms};
}

my $settings = first_line("$dir/behaviour/$node.$phase");
$behaviour{$1} = $2 while $settings =~ /(\w+)=(\d+)/g;
# Set before anything beats: a test may send SIGTERM as soon as it sees a beat.
$SIG{TERM} = 'IGNORE' if $behaviour{hang};
my @alive = $phase =~ /^(takeover|run)$/ ? map { sprintf '{"node":"%s","slot":%d,"token":"%s","state":"%s"}', @$_{qw(node slot token state)} } beating() : ();
note('started', at => $begun_at, alive => \@alive);

if ($phase eq 'takeover') {
  start_beating();
  behave();
} elsif ($phase eq 'run') {
  my $is_stopping = 0;
  $SIG{TERM} = sub { $is_stopping = 1 };
  start_beating();
  sleep $beat_seconds while wanted() && !$is_stopping;
  end_own();
} elsif ($phase eq 'release') {
  my $own = start_beating();
  behave();
  if ($behaviour{leave}) { end($own) } else { end_own() }
} elsif ($phase eq 'fence') {
  behave();
  for my $other ($behaviour{exit_code} ? () : grep { $_->{node} eq ($ENV{PETREL_TARGET} // '') } beating()) {
    end($other->{pid});
    note('killed', node => $other->{node}, slot => $other->{slot}, token => $other->{token});
  }
} else {
  behave();
}
note('ended', exitCode => $behaviour{exit_code});
exit $behaviour{exit_code};
