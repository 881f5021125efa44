-- Receivers of events, and the messages that are sent to them.
CREATE TABLE "Webhook" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "organizationId" TEXT COLLATE "C",
    "url" TEXT COLLATE "C" NOT NULL,
    "description" TEXT COLLATE "C",
    "types" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "payload" TEXT COLLATE "C" NOT NULL DEFAULT 'full',
    "headers" TEXT COLLATE "C",
    "headerNames" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "secret" TEXT COLLATE "C" NOT NULL,
    "previousSecret" TEXT COLLATE "C",
    "previousSecretExpiresAt" TIMESTAMPTZ(3),
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "failingSince" TIMESTAMPTZ(3),
    "position" TEXT COLLATE "C" NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Webhook_pkey" PRIMARY KEY ("tenantId","id"),
    CONSTRAINT "Webhook_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "Webhook_tenantId_organizationId_fkey" FOREIGN KEY ("tenantId", "organizationId") REFERENCES "Organization"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "Webhook_tenantId_organizationId_id_idx" ON "Webhook"("tenantId", "organizationId", "id");
CREATE TRIGGER "Webhook_tenant" BEFORE UPDATE OF "tenantId" ON "Webhook" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE TABLE "WebhookDelivery" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "webhookId" TEXT COLLATE "C" NOT NULL,
    "number" BIGSERIAL NOT NULL,
    "messageId" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "subject" TEXT COLLATE "C" NOT NULL,
    "body" TEXT COLLATE "C" NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "nextAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "finishedAt" TIMESTAMPTZ(3),
    "accepted" BOOLEAN NOT NULL DEFAULT false,
    "httpStatus" INTEGER,
    "fault" TEXT COLLATE "C",
    "latencyMs" INTEGER,
    "response" TEXT COLLATE "C",
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "WebhookDelivery_pkey" PRIMARY KEY ("tenantId","id"),
    CONSTRAINT "WebhookDelivery_tenantId_webhookId_fkey" FOREIGN KEY ("tenantId", "webhookId") REFERENCES "Webhook"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "WebhookDelivery_tenantId_webhookId_id_idx" ON "WebhookDelivery"("tenantId", "webhookId", "id");
CREATE INDEX "WebhookDelivery_pending_idx" ON "WebhookDelivery"("tenantId", "webhookId", "subject", "number") WHERE ("finishedAt" IS NULL);
CREATE INDEX "WebhookDelivery_next_idx" ON "WebhookDelivery"("nextAt") WHERE ("finishedAt" IS NULL);
CREATE INDEX "WebhookDelivery_finishedAt_idx" ON "WebhookDelivery"("finishedAt");
CREATE TRIGGER "WebhookDelivery_tenant" BEFORE UPDATE OF "tenantId" ON "WebhookDelivery" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
