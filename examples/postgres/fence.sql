-- A PostgreSQL database that rejects an old leader. Each writer passes its fencing token as petrel.fencing_token.
-- The database remembers the highest token, and rejects lower ones.
--
-- Promised: once a transaction has shown a token, no transaction with a lower one is committed, whatever its isolation
-- level, and however long it has been open.
-- Not promised: an owner of these objects or a superuser can disable this protection.

create schema fencing;

create table fencing.newest (
  only_row boolean primary key default true check (only_row),
  token bigint not null
);
insert into fencing.newest (token) values (0);

-- A leader calls this first, before it reads the state that it continues from. By then every transaction of an old leader
-- is committed or rejected, and no further one can be committed.
create function fencing.show() returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  shown bigint := nullif(current_setting('petrel.fencing_token', true), '');
  newest bigint;
begin
  if shown is null then
    raise exception 'no fencing token was shown' using hint = 'set petrel.fencing_token';
  end if;
  update fencing.newest set token = shown where token < shown;
  -- Reading is not enough: a newer token could arrive between the read and the commit. This lock is held until the
  -- commit, and the update by a newer token waits for it. Transactions of one leader do not wait for each other.
  select token into strict newest from fencing.newest for share;
  if shown < newest then
    raise exception 'fencing token % is older than %: there is a new leader', shown, newest;
  end if;
  return shown;
end
$$;

create function fencing.guard() returns trigger
language plpgsql as $$
begin
  perform fencing.show();
  return null;
end
$$;

grant usage on schema fencing to public;

-- Your own schema starts here: a table that only the leader writes.
create table ledger (
  id bigint generated always as identity primary key,
  node text not null,
  entry text not null,
  token bigint not null default current_setting('petrel.fencing_token')::bigint,
  at timestamptz not null default clock_timestamp()
);
create trigger fenced before insert or update or delete or truncate on ledger
  for each statement execute function fencing.guard();
