

-- CreateTable
CREATE TABLE "Invitation" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "tokenHash" BYTEA,
    "email" TEXT COLLATE "C" NOT NULL,
    "emailKey" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C",
    "note" TEXT COLLATE "C",
    "roles" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "locale" TEXT COLLATE "C",
    "clientId" TEXT COLLATE "C",
    "inviterName" TEXT COLLATE "C",
    "userId" TEXT COLLATE "C",
    "revoked" BOOLEAN NOT NULL DEFAULT false,
    "sentAt" TIMESTAMPTZ(3) NOT NULL,
    "sendCount" INTEGER NOT NULL DEFAULT 1,
    "acceptedAt" TIMESTAMPTZ(3),
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Invitation_pkey" PRIMARY KEY ("tenantId","id")
);

-- CreateIndex
CREATE INDEX "Invitation_tenantId_userId_idx" ON "Invitation"("tenantId", "userId");

-- CreateIndex
CREATE INDEX "Invitation_tenantId_emailKey_sentAt_idx" ON "Invitation"("tenantId", "emailKey", "sentAt");

-- CreateIndex
CREATE INDEX "Invitation_expiresAt_idx" ON "Invitation"("expiresAt");

-- CreateIndex
CREATE UNIQUE INDEX "Invitation_token_key" ON "Invitation"("tenantId", "tokenHash");

-- CreateIndex

-- AddForeignKey
ALTER TABLE "Invitation" ADD CONSTRAINT "Invitation_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "Invitation" ADD CONSTRAINT "Invitation_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;
CREATE TRIGGER "Invitation_tenant" BEFORE UPDATE OF "tenantId" ON "Invitation" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
