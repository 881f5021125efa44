-- The link with which somebody without an account sets up an organization: one for each organization.
CREATE TABLE "OrganizationSetup" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "organizationId" TEXT COLLATE "C" NOT NULL,
    "tokenHash" BYTEA NOT NULL,
    "openedAt" TIMESTAMPTZ(3),
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "OrganizationSetup_pkey" PRIMARY KEY ("tenantId","organizationId"),
    CONSTRAINT "OrganizationSetup_tenantId_organizationId_fkey" FOREIGN KEY ("tenantId", "organizationId") REFERENCES "Organization"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE UNIQUE INDEX "OrganizationSetup_token_key" ON "OrganizationSetup"("tenantId", "tokenHash");
CREATE TRIGGER "OrganizationSetup_tenant" BEFORE UPDATE OF "tenantId" ON "OrganizationSetup" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
