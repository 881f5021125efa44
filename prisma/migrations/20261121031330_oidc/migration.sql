-- AlterTable
ALTER TABLE "AuthorizationCode" ADD COLUMN     "claims" JSONB,
ADD COLUMN     "dpopJkt" TEXT COLLATE "C";

-- AlterTable
ALTER TABLE "Client" ADD COLUMN     "backchannelLogoutUrl" TEXT COLLATE "C",
ADD COLUMN     "documentFreshUntil" TIMESTAMPTZ(3),
ADD COLUMN     "idTokenSigningAlg" TEXT COLLATE "C",
ADD COLUMN     "registeredBy" TEXT COLLATE "C" NOT NULL DEFAULT 'administrator',
ADD COLUMN     "registrationTokenHash" BYTEA,
ADD COLUMN     "requirePushedRequests" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "resources" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "userInfoSigningAlg" TEXT COLLATE "C";

-- AlterTable
ALTER TABLE "Consent" ADD COLUMN     "claims" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "Grant" ADD COLUMN     "claims" JSONB,
ADD COLUMN     "dpopJkt" TEXT COLLATE "C";

-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "clientIdMetadataDocuments" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "dynamicRegistration" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "PushedRequest" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "requestHash" BYTEA NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "parameters" JSONB NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "PushedRequest_pkey" PRIMARY KEY ("tenantId","requestHash")
);

-- CreateTable
CREATE TABLE "DeviceCode" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "codeHash" BYTEA NOT NULL,
    "userCodeHash" BYTEA NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "scopes" TEXT[] COLLATE "C",
    "resources" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "status" TEXT COLLATE "C" NOT NULL DEFAULT 'pending',
    "userId" TEXT COLLATE "C",
    "sessionId" TEXT COLLATE "C",
    "grantId" TEXT COLLATE "C" NOT NULL,
    "authenticatedAt" TIMESTAMPTZ(3),
    "amr" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "intervalSeconds" INTEGER NOT NULL DEFAULT 5,
    "lastPolledAt" TIMESTAMPTZ(3),
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "DeviceCode_pkey" PRIMARY KEY ("tenantId","codeHash")
);

-- CreateTable
CREATE TABLE "UsedProof" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "proofHash" BYTEA NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "UsedProof_pkey" PRIMARY KEY ("tenantId","proofHash")
);

-- CreateTable
CREATE TABLE "SessionClient" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "sessionId" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "SessionClient_pkey" PRIMARY KEY ("tenantId","sessionId","clientId")
);

-- CreateTable
CREATE TABLE "LogoutDelivery" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "sessionId" TEXT COLLATE "C" NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "nextAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "LogoutDelivery_pkey" PRIMARY KEY ("tenantId","id")
);

-- CreateTable
CREATE TABLE "RegistrationToken" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "tokenHash" BYTEA NOT NULL,
    "note" TEXT COLLATE "C",
    "usesLeft" INTEGER,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "RegistrationToken_pkey" PRIMARY KEY ("tenantId","id")
);

-- CreateIndex
CREATE INDEX "PushedRequest_tenantId_clientId_idx" ON "PushedRequest"("tenantId", "clientId");

-- CreateIndex
CREATE INDEX "PushedRequest_expiresAt_idx" ON "PushedRequest"("expiresAt");

-- CreateIndex
CREATE INDEX "DeviceCode_tenantId_clientId_idx" ON "DeviceCode"("tenantId", "clientId");

-- CreateIndex
CREATE INDEX "DeviceCode_tenantId_userId_idx" ON "DeviceCode"("tenantId", "userId");

-- CreateIndex
CREATE INDEX "DeviceCode_expiresAt_idx" ON "DeviceCode"("expiresAt");

-- CreateIndex
CREATE UNIQUE INDEX "DeviceCode_userCode_key" ON "DeviceCode"("tenantId", "userCodeHash");

-- CreateIndex
CREATE INDEX "UsedProof_expiresAt_idx" ON "UsedProof"("expiresAt");

-- CreateIndex
CREATE INDEX "SessionClient_tenantId_clientId_idx" ON "SessionClient"("tenantId", "clientId");

-- CreateIndex
CREATE INDEX "LogoutDelivery_tenantId_clientId_idx" ON "LogoutDelivery"("tenantId", "clientId");

-- CreateIndex
CREATE INDEX "LogoutDelivery_nextAt_idx" ON "LogoutDelivery"("nextAt");

-- CreateIndex
CREATE INDEX "RegistrationToken_expiresAt_idx" ON "RegistrationToken"("expiresAt");

-- CreateIndex
CREATE UNIQUE INDEX "RegistrationToken_token_key" ON "RegistrationToken"("tenantId", "tokenHash");

-- CreateIndex
CREATE INDEX "Event_request_idx" ON "Event"("tenantId", "requestId", "era", "xid", "seq") WHERE ("type" <> 'grant.refreshed' AND "type" <> 'session.refreshed');

-- AddForeignKey
ALTER TABLE "PushedRequest" ADD CONSTRAINT "PushedRequest_tenantId_clientId_fkey" FOREIGN KEY ("tenantId", "clientId") REFERENCES "Client"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "DeviceCode" ADD CONSTRAINT "DeviceCode_tenantId_clientId_fkey" FOREIGN KEY ("tenantId", "clientId") REFERENCES "Client"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "SessionClient" ADD CONSTRAINT "SessionClient_tenantId_sessionId_fkey" FOREIGN KEY ("tenantId", "sessionId") REFERENCES "Session"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "SessionClient" ADD CONSTRAINT "SessionClient_tenantId_clientId_fkey" FOREIGN KEY ("tenantId", "clientId") REFERENCES "Client"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "LogoutDelivery" ADD CONSTRAINT "LogoutDelivery_tenantId_clientId_fkey" FOREIGN KEY ("tenantId", "clientId") REFERENCES "Client"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "RegistrationToken" ADD CONSTRAINT "RegistrationToken_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT;

-- Rows never move between tenants, whoever writes.
CREATE TRIGGER "PushedRequest_tenant" BEFORE UPDATE OF "tenantId" ON "PushedRequest" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
CREATE TRIGGER "DeviceCode_tenant" BEFORE UPDATE OF "tenantId" ON "DeviceCode" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
CREATE TRIGGER "UsedProof_tenant" BEFORE UPDATE OF "tenantId" ON "UsedProof" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
CREATE TRIGGER "SessionClient_tenant" BEFORE UPDATE OF "tenantId" ON "SessionClient" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
CREATE TRIGGER "LogoutDelivery_tenant" BEFORE UPDATE OF "tenantId" ON "LogoutDelivery" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
CREATE TRIGGER "RegistrationToken_tenant" BEFORE UPDATE OF "tenantId" ON "RegistrationToken" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
