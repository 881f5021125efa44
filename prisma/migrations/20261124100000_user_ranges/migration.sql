-- The number of users of a tenant from an id on, up to the next row: a page by offset skips whole ranges.
CREATE TABLE "UserRange" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "start" TEXT COLLATE "C" NOT NULL,
    "slot" INTEGER NOT NULL,
    "users" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "UserRange_pkey" PRIMARY KEY ("tenantId","start","slot")
);
ALTER TABLE "UserRange" SET (fillfactor = 50);
CREATE TRIGGER "UserRange_tenant" BEFORE UPDATE OF "tenantId" ON "UserRange" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

INSERT INTO "UserRange" ("tenantId", "start", "slot", "users")
SELECT "tenantId", CASE WHEN "range" = 0 THEN '' ELSE min("id") END, 0, count(*)
FROM (SELECT "tenantId", "id", (row_number() OVER (PARTITION BY "tenantId" ORDER BY "id") - 1) / 2000 AS "range" FROM "User") u
GROUP BY "tenantId", "range";

-- Whoever divides the ranges of a tenant holds the lock of this key exclusively, so that no statement counts a user in a
-- range that another transaction divides.
CREATE FUNCTION user_ranges_key(tenant TEXT) RETURNS BIGINT LANGUAGE sql IMMUTABLE AS $$
    SELECT hashtextextended(tenant, 7305110517)
$$;

-- Writers in one slot meet in its row of "UserCount" first, so that the rows of several ranges cannot deadlock.
CREATE OR REPLACE FUNCTION count_users() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change INTEGER := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
    own_slot INTEGER := pg_backend_pid() % 8;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(user_ranges_key("tenantId"))
    FROM (SELECT DISTINCT "tenantId" FROM changed ORDER BY "tenantId") t;

    INSERT INTO "UserCount" ("tenantId", "slot", "users")
    SELECT "tenantId", own_slot, change * count(*) FROM changed GROUP BY "tenantId" ORDER BY "tenantId"
    ON CONFLICT ("tenantId", "slot") DO UPDATE SET "users" = "UserCount"."users" + EXCLUDED."users";

    INSERT INTO "UserRange" ("tenantId", "start", "slot", "users")
    SELECT c."tenantId", COALESCE(r."start", ''), own_slot, change * count(*)
    FROM changed c LEFT JOIN LATERAL (
        SELECT "start" FROM "UserRange" WHERE "tenantId" = c."tenantId" AND "start" <= c."id" ORDER BY "start" DESC LIMIT 1
    ) r ON true
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT ("tenantId", "start", "slot") DO UPDATE SET "users" = "UserRange"."users" + EXCLUDED."users";
    RETURN NULL;
END $$;
