/**
 * Measures the time from the start of a process until it leads a new group. The servers are already running.
 */
import { Contest } from '../contest.js';
import { Contests, calm, meetingOf, type Tournament } from '../tournament.js';

export async function start(tournament: Tournament, scenario: string, rounds: number): Promise<void> {
  const { contenders, samples, say } = tournament;
  const failed = new Set<string>();
  for (let round = 1; round <= rounds; round++) {
    say(`${scenario}: round ${round} of ${rounds}`);
    for (const contender of contenders.filter(({ name }) => !failed.has(name))) {
      await calm(tournament);
      const contests = new Contests(tournament, scenario);
      const contest = new Contest(meetingOf(tournament, contender, { sessionMs: 6_000 }));
      const opened = await contests.open(contender, async () => {
        const mark = tournament.hub.mark;
        const { startedAtMs } = await contest.join();
        samples.add(scenario, contender.name, 'start', (await contest.anybody(mark)).atMs - startedAtMs);
        return contest;
      });
      if (opened === null) failed.add(contender.name);
      await contest.close();
    }
  }
}
