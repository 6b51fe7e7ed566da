-- A PostgreSQL database that refuses an old leader. Whoever writes shows its fencing token as petrel.fencing_token;
-- the database remembers the highest one that it has been shown, and refuses a lower one.
--
-- What is promised: once a transaction has shown a token, none with a lower one is committed any more, whatever its
-- isolation level, and however long it had been open.
-- What is not: that an owner of these objects, or a superuser, cannot switch it off.

create schema fencing;

create table fencing.newest (
  only_row boolean primary key default true check (only_row),
  token bigint not null
);
insert into fencing.newest (token) values (0);

-- A leader calls this first of all, before it reads what it goes on from: what an old leader had under way is committed or
-- refused by then, and no more comes.
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
  -- Looking is not enough: a newer token could come between the look and the commit. This lock is held until then, and
  -- the update of whoever shows a newer one waits for it. Those of one leader do not wait for each other.
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

-- Yours begins here: a table that only the leader writes.
create table ledger (
  id bigint generated always as identity primary key,
  node text not null,
  entry text not null,
  token bigint not null default current_setting('petrel.fencing_token')::bigint,
  at timestamptz not null default clock_timestamp()
);
create trigger fenced before insert or update or delete or truncate on ledger
  for each statement execute function fencing.guard();
