-- An identity provider may belong to an organization, and ends with it.
ALTER TABLE "IdentityProvider" ADD COLUMN "organizationId" TEXT COLLATE "C";
ALTER TABLE "IdentityProvider" ADD CONSTRAINT "IdentityProvider_tenantId_organizationId_fkey" FOREIGN KEY ("tenantId", "organizationId") REFERENCES "Organization"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;
CREATE INDEX "IdentityProvider_tenantId_organizationId_idx" ON "IdentityProvider"("tenantId", "organizationId") WHERE ("organizationId" IS NOT NULL);
