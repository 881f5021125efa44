-- The repetition of a range of events, and the messages that were given up.
ALTER TABLE "Webhook" ADD COLUMN "replayUntil" TEXT COLLATE "C", ADD COLUMN "resumePosition" TEXT COLLATE "C";
CREATE INDEX "WebhookDelivery_failed_idx" ON "WebhookDelivery"("tenantId", "webhookId", "id") WHERE ("finishedAt" IS NOT NULL AND NOT accepted);
