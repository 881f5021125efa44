-- CreateTable
CREATE TABLE "ProviderSession" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "sessionId" TEXT COLLATE "C" NOT NULL,
    "idpId" TEXT COLLATE "C" NOT NULL,
    "issuer" TEXT COLLATE "C" NOT NULL,
    "subject" TEXT COLLATE "C" NOT NULL,
    "sid" TEXT COLLATE "C",

    CONSTRAINT "ProviderSession_pkey" PRIMARY KEY ("tenantId","sessionId")
);

-- CreateIndex
CREATE INDEX "ProviderSession_tenantId_idpId_sid_idx" ON "ProviderSession"("tenantId", "idpId", "sid");

-- CreateIndex
CREATE INDEX "ProviderSession_tenantId_idpId_subject_idx" ON "ProviderSession"("tenantId", "idpId", "subject");

-- AddForeignKey
ALTER TABLE "ProviderSession" ADD CONSTRAINT "ProviderSession_tenantId_sessionId_fkey" FOREIGN KEY ("tenantId", "sessionId") REFERENCES "Session"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "ProviderSession" ADD CONSTRAINT "ProviderSession_tenantId_idpId_fkey" FOREIGN KEY ("tenantId", "idpId") REFERENCES "IdentityProvider"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;
CREATE TRIGGER "ProviderSession_tenant" BEFORE UPDATE OF "tenantId" ON "ProviderSession" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
