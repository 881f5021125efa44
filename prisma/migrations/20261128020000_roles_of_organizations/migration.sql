-- Roles of organizations, and the permissions that they may have.
ALTER TABLE "ApiPermission" ADD COLUMN "isAllowedInOrganizations" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "AppRole" ADD COLUMN "organizationId" TEXT COLLATE "C",
    ADD CONSTRAINT "AppRole_tenantId_organizationId_fkey" FOREIGN KEY ("tenantId", "organizationId") REFERENCES "Organization"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;
DROP INDEX "AppRole_name_key";
CREATE UNIQUE INDEX "AppRole_name_key" ON "AppRole"("tenantId", "name") WHERE ("organizationId" IS NULL);
CREATE UNIQUE INDEX "AppRole_organization_name_key" ON "AppRole"("tenantId", "name", "organizationId");
CREATE INDEX "AppRole_tenantId_organizationId_id_idx" ON "AppRole"("tenantId", "organizationId", "id");
