-- The log of a tenant in parts of so many events, each with its last position: a page by offset skips whole parts. They are
-- made when the log is counted, so that events cost nothing more when they are recorded.
CREATE TABLE "EventMark" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "era" INTEGER NOT NULL,
    "xid" BIGINT NOT NULL,
    "seq" BIGINT NOT NULL,
    "events" INTEGER NOT NULL,

    CONSTRAINT "EventMark_pkey" PRIMARY KEY ("tenantId","era","xid","seq")
);
CREATE TRIGGER "EventMark_tenant" BEFORE UPDATE OF "tenantId" ON "EventMark" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

-- Keeps those away who delete events and correct the marks, until they see the marks that the transaction makes.
CREATE FUNCTION lock_event_marks() RETURNS BOOLEAN LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE "EventMark" IN SHARE ROW EXCLUSIVE MODE;
    RETURN TRUE;
END $$;
