-- What a SCIM client knows of a user: of the tenant, or of an organization.
CREATE TABLE "ScimUser" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "ownerId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "organizationId" TEXT COLLATE "C",
    "userName" TEXT COLLATE "C" NOT NULL,
    "userNameKey" TEXT COLLATE "C" NOT NULL,
    "externalId" TEXT COLLATE "C",
    "attributes" JSONB NOT NULL DEFAULT '{}',
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ScimUser_pkey" PRIMARY KEY ("tenantId","ownerId","userId"),
    CONSTRAINT "ScimUser_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "ScimUser_tenantId_organizationId_fkey" FOREIGN KEY ("tenantId", "organizationId") REFERENCES "Organization"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE UNIQUE INDEX "ScimUser_userName_key" ON "ScimUser"("tenantId", "ownerId", "userNameKey");
CREATE UNIQUE INDEX "ScimUser_externalId_key" ON "ScimUser"("tenantId", "ownerId", "externalId");
CREATE INDEX "ScimUser_tenantId_userId_idx" ON "ScimUser"("tenantId", "userId");
CREATE INDEX "ScimUser_tenantId_organizationId_idx" ON "ScimUser"("tenantId", "organizationId");
CREATE TRIGGER "ScimUser_tenant" BEFORE UPDATE OF "tenantId" ON "ScimUser" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

ALTER TABLE "Group" ADD COLUMN "scimExternalId" TEXT COLLATE "C";
