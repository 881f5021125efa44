-- Changes of the rows that processes cache. Each process reads the newest ones about once a second, and drops what it
-- caches of the rows they name.
CREATE TABLE "RowChange" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "xid" BIGINT NOT NULL DEFAULT (pg_current_xact_id()::text)::bigint,
    "id" BIGSERIAL NOT NULL,
    "cache" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "changedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "RowChange_pkey" PRIMARY KEY ("tenantId","xid","id")
);
CREATE INDEX "RowChange_xid_id_idx" ON "RowChange"("xid", "id");
CREATE INDEX "RowChange_changedAt_idx" ON "RowChange"("changedAt");
CREATE TRIGGER "RowChange_tenant" BEFORE UPDATE OF "tenantId" ON "RowChange" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

-- Arguments: the cache, and the column that is the key of its entries; without a column, a tenant has one entry.
CREATE FUNCTION record_row_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'INSERT INTO "RowChange" ("tenantId", "cache", "key") SELECT DISTINCT "tenantId", %L, %s FROM (SELECT * FROM changed%s) c ORDER BY 1, 3',
        TG_ARGV[0],
        CASE TG_NARGS WHEN 1 THEN quote_literal('') ELSE quote_ident(TG_ARGV[1]) END,
        CASE TG_OP WHEN 'UPDATE' THEN ' UNION ALL SELECT * FROM former' END
    );
    RETURN NULL;
END $$;

-- One statement writes each name once, such as the deletion of a tenant with its clients.
DO $$
DECLARE
    source RECORD;
    event RECORD;
BEGIN
    FOR source IN SELECT * FROM (VALUES
        ('Tenant', 'tenant', NULL), ('IdentityProvider', 'tenant', NULL),
        ('Client', 'client', 'id'), ('ClientSecret', 'client', 'clientId'),
        ('Client', 'declared-resources', NULL),
        ('SigningKey', 'keys', NULL)
    ) AS s("table", "cache", "key") LOOP
        FOR event IN SELECT * FROM (VALUES
            ('INSERT', 'NEW TABLE AS changed'),
            ('UPDATE', 'NEW TABLE AS changed OLD TABLE AS former'),
            ('DELETE', 'OLD TABLE AS changed')
        ) AS e("name", "rows") LOOP
            EXECUTE format(
                'CREATE TRIGGER %I AFTER %s ON %I REFERENCING %s FOR EACH STATEMENT EXECUTE FUNCTION record_row_changes(%s)',
                source."table" || '_' || lower(event."name") || '_' || source."cache", event."name", source."table", event."rows",
                concat_ws(', ', quote_literal(source."cache"), quote_literal(source."key"))
            );
        END LOOP;
    END LOOP;
END $$;
