# For image builders, which source it: the root of an image, put together from this Debian machine's own files,
# since a base image may be out of reach.

# An empty root with the folders that programs expect.
make_root() { # ROOT
  local dir
  for dir in bin sbin lib lib64; do
    mkdir -p "$1/usr/$dir"
    ln -s "usr/$dir" "$1/$dir"
  done
  mkdir -p "$1"/{dev,proc,sys,run,root,tmp,etc,usr/local/bin,usr/share}
  chmod 1777 "$1/tmp"
  cp -L /etc/os-release "$1/etc/"
  printf 'hosts: files dns\n' >"$1/etc/nsswitch.conf"
}

add_user() { # ROOT NAME HOME
  printf 'root:x:0:0::/root:/bin/sh\n%s:x:1000:1000::%s:/bin/sh\n' "$2" "$3" >"$1/etc/passwd"
  printf 'root:x:0:\n%s:x:1000:\n' "$2" >"$1/etc/group"
}

# The shared libraries that programs or libraries load, at the paths where they are looked for. Those that the
# C library loads by itself, to look up hosts, are not listed by any program.
add_libraries() { # ROOT FILE...
  local root=$1 library
  shift
  ldd "$@" 2>/dev/null | grep -o '/[^ ]*' | grep -v ':$' | sort -u | while read -r library; do
    [ -e "$root$library" ] || install -D "$(readlink -f "$library")" "$root$library"
  done
}

add_programs() { # ROOT PROGRAM...
  local root=$1 name path
  shift
  for name; do
    path=$(PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin type -P "$name")
    install "$path" "$root/usr/bin/$name"
    add_libraries "$root" "$path"
  done
}
