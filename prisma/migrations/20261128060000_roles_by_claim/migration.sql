-- Roles of members by a claim of the identity provider of their organization.
ALTER TABLE "IdentityProvider" ADD COLUMN "roleClaim" TEXT COLLATE "C",
    ADD COLUMN "claimRoles" JSONB NOT NULL DEFAULT '[]';
ALTER TABLE "MembershipAppRole" ADD COLUMN "idpId" TEXT COLLATE "C",
    ADD CONSTRAINT "MembershipAppRole_tenantId_idpId_fkey" FOREIGN KEY ("tenantId", "idpId") REFERENCES "IdentityProvider"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;
CREATE INDEX "MembershipAppRole_tenantId_idpId_idx" ON "MembershipAppRole"("tenantId", "idpId") WHERE ("idpId" IS NOT NULL);
