-- AlterTable
ALTER TABLE "IdentityProvider" ADD COLUMN     "keepTokens" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "IdpUserToken" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "linkId" TEXT COLLATE "C" NOT NULL,
    "idpId" TEXT COLLATE "C" NOT NULL,
    "accessToken" TEXT COLLATE "C" NOT NULL,
    "refreshToken" TEXT COLLATE "C",
    "scopes" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "expiresAt" TIMESTAMPTZ(3),
    "refreshId" TEXT COLLATE "C",
    "refreshUntil" TIMESTAMPTZ(3),

    CONSTRAINT "IdpUserToken_pkey" PRIMARY KEY ("tenantId","linkId")
);

-- CreateIndex
CREATE INDEX "IdpUserToken_tenantId_idpId_linkId_idx" ON "IdpUserToken"("tenantId", "idpId", "linkId");

-- AddForeignKey
ALTER TABLE "IdpUserToken" ADD CONSTRAINT "IdpUserToken_tenantId_linkId_fkey" FOREIGN KEY ("tenantId", "linkId") REFERENCES "IdpUser"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "IdpUserToken" ADD CONSTRAINT "IdpUserToken_tenantId_idpId_fkey" FOREIGN KEY ("tenantId", "idpId") REFERENCES "IdentityProvider"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;
CREATE TRIGGER "IdpUserToken_tenant" BEFORE UPDATE OF "tenantId" ON "IdpUserToken" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
