-- Numbers of sign-ins, of failed ones and of new users, by day (UTC) and method. A counter that is updated would make
-- sign-ins wait for each other until their commits. Each counted event is a row of its own instead, which a job adds to the
-- counter of its day.
CREATE TABLE "DailyCount" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "day" DATE NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "method" TEXT COLLATE "C" NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "DailyCount_pkey" PRIMARY KEY ("tenantId","day","kind","method")
);
CREATE INDEX "DailyCount_day_idx" ON "DailyCount"("day");
CREATE TRIGGER "DailyCount_tenant" BEFORE UPDATE OF "tenantId" ON "DailyCount" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE TABLE "UncountedEvent" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "day" DATE NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "method" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "UncountedEvent_pkey" PRIMARY KEY ("tenantId","id")
);
CREATE TRIGGER "UncountedEvent_tenant" BEFORE UPDATE OF "tenantId" ON "UncountedEvent" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE FUNCTION counted_kind(type TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE type WHEN 'signin.failed' THEN 'failed-sign-in' WHEN 'user.created' THEN 'new-user' ELSE 'sign-in' END
$$;

CREATE FUNCTION count_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "UncountedEvent" ("tenantId", "day", "kind", "method")
    VALUES (NEW."tenantId", (NEW."occurredAt" AT TIME ZONE 'UTC')::date, counted_kind(NEW."type"), COALESCE(NEW."detail"->>'method', ''));
    RETURN NULL;
END $$;

-- The events of the last 400 days are counted before the trigger is made, which blocks insertions until the end of the
-- migration: those of transactions that had ended when the migration began. Events of earlier versions do not name the method.
SELECT set_config('vestibule.counted_below', pg_snapshot_xmin(pg_current_snapshot())::text, true);
INSERT INTO "DailyCount" ("tenantId", "day", "kind", "method", "count")
SELECT t."tenantId", (e."occurredAt" AT TIME ZONE 'UTC')::date, counted_kind(e."type"), COALESCE(e."detail"->>'method', ''), count(*)
FROM "Tenant" t JOIN "Event" e ON e."tenantId" = t."tenantId"
WHERE e."type" IN ('session.started', 'session.reauthenticated', 'signin.failed', 'user.created')
    AND e."detail"->>'kind' IS DISTINCT FROM 'oidc'
    AND e."occurredAt" > now() - interval '400 days'
    AND (e."era" < event_era() OR e."xid" < current_setting('vestibule.counted_below')::bigint)
GROUP BY 1, 2, 3, 4;

-- In the transaction of the event. The session of a client, of kind "oidc", follows a sign-in in the browser.
CREATE TRIGGER "Event_count" AFTER INSERT ON "Event" FOR EACH ROW
    WHEN (NEW."type" IN ('session.started', 'session.reauthenticated', 'signin.failed', 'user.created')
        AND NEW."detail"->>'kind' IS DISTINCT FROM 'oidc')
    EXECUTE FUNCTION count_event();

-- Those that were recorded meanwhile.
INSERT INTO "UncountedEvent" ("tenantId", "day", "kind", "method")
SELECT t."tenantId", (e."occurredAt" AT TIME ZONE 'UTC')::date, counted_kind(e."type"), COALESCE(e."detail"->>'method', '')
FROM "Tenant" t CROSS JOIN LATERAL (
    SELECT * FROM "Event" e
    WHERE e."tenantId" = t."tenantId" AND e."era" = event_era() AND e."xid" >= current_setting('vestibule.counted_below')::bigint
) e
WHERE e."type" IN ('session.started', 'session.reauthenticated', 'signin.failed', 'user.created')
    AND e."detail"->>'kind' IS DISTINCT FROM 'oidc';
