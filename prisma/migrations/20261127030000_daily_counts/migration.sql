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

-- In the transaction of the event. The session of a client, of kind "oidc", follows a sign-in in the browser.
CREATE TRIGGER "Event_count" AFTER INSERT ON "Event" FOR EACH ROW
    WHEN (NEW."type" IN ('session.started', 'session.reauthenticated', 'signin.failed', 'user.created')
        AND NEW."detail"->>'kind' IS DISTINCT FROM 'oidc')
    EXECUTE FUNCTION count_event();

-- Events of earlier versions do not name the method of a sign-in.
INSERT INTO "DailyCount" ("tenantId", "day", "kind", "method", "count")
SELECT "tenantId", ("occurredAt" AT TIME ZONE 'UTC')::date, counted_kind("type"), COALESCE("detail"->>'method', ''), count(*)
FROM "Event"
WHERE "type" IN ('session.started', 'session.reauthenticated', 'signin.failed', 'user.created')
    AND "detail"->>'kind' IS DISTINCT FROM 'oidc'
GROUP BY 1, 2, 3, 4;
