-- The transaction that last changed what callers see of a message, for those who follow the changes.
ALTER TABLE "WebhookDelivery" ADD COLUMN "era" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "xid" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "WebhookDelivery" ALTER COLUMN "era" SET DEFAULT event_era(),
    ALTER COLUMN "xid" SET DEFAULT ((pg_current_xact_id())::text)::bigint;
CREATE INDEX "WebhookDelivery_tenantId_era_xid_number_idx" ON "WebhookDelivery"("tenantId", "era", "xid", "number");

CREATE FUNCTION mark_delivery_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    NEW."era" = event_era();
    NEW."xid" = ((pg_current_xact_id())::text)::bigint;
    RETURN NEW;
END $$;
-- A claim moves "nextAt" and "attempts" alone.
CREATE TRIGGER "WebhookDelivery_change" BEFORE UPDATE OF "finishedAt", "httpStatus" ON "WebhookDelivery"
    FOR EACH ROW EXECUTE FUNCTION mark_delivery_change();
