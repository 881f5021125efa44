-- Keys by which programs call APIs. Two hashes of a key are valid while it is rotated.
ALTER TABLE "Tenant" ADD COLUMN "userApiKeys" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "apiKeyLifetimeSeconds" INTEGER NOT NULL DEFAULT 31536000;

CREATE TABLE "ApiKey" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C",
    "organizationId" TEXT COLLATE "C",
    "scopes" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "resources" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "allowedNetworks" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "start" TEXT COLLATE "C" NOT NULL,
    "byManagement" BOOLEAN NOT NULL DEFAULT true,
    "lastUsedAt" TIMESTAMPTZ(3),
    "rotatedAt" TIMESTAMPTZ(3),
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ApiKey_pkey" PRIMARY KEY ("tenantId","id"),
    CONSTRAINT "ApiKey_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "ApiKey_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "ApiKey_tenantId_organizationId_fkey" FOREIGN KEY ("tenantId", "organizationId") REFERENCES "Organization"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "ApiKey_tenantId_userId_id_idx" ON "ApiKey"("tenantId", "userId", "id");
CREATE INDEX "ApiKey_tenantId_organizationId_id_idx" ON "ApiKey"("tenantId", "organizationId", "id");
CREATE INDEX "ApiKey_expiresAt_idx" ON "ApiKey"("expiresAt");
CREATE TRIGGER "ApiKey_tenant" BEFORE UPDATE OF "tenantId" ON "ApiKey" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE TABLE "ApiKeySecret" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "secretHash" BYTEA NOT NULL,
    "apiKeyId" TEXT COLLATE "C" NOT NULL,
    "expiresAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ApiKeySecret_pkey" PRIMARY KEY ("tenantId","secretHash"),
    CONSTRAINT "ApiKeySecret_tenantId_apiKeyId_fkey" FOREIGN KEY ("tenantId", "apiKeyId") REFERENCES "ApiKey"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "ApiKeySecret_tenantId_apiKeyId_idx" ON "ApiKeySecret"("tenantId", "apiKeyId");
CREATE INDEX "ApiKeySecret_expiresAt_idx" ON "ApiKeySecret"("expiresAt");
CREATE TRIGGER "ApiKeySecret_tenant" BEFORE UPDATE OF "tenantId" ON "ApiKeySecret" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

ALTER TABLE "Event" ADD COLUMN "actorApiKeyId" TEXT COLLATE "C";
CREATE INDEX "Event_tenantId_actorApiKeyId_era_xid_seq_idx" ON "Event"("tenantId", "actorApiKeyId", "era", "xid", "seq") WHERE ("actorApiKeyId" IS NOT NULL);
