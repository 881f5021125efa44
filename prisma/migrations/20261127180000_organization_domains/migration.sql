-- Domains of e-mail addresses that organizations claim and prove.
CREATE TABLE "OrganizationDomain" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "organizationId" TEXT COLLATE "C" NOT NULL,
    "domain" TEXT COLLATE "C" NOT NULL,
    "enrollment" TEXT COLLATE "C" NOT NULL DEFAULT 'none',
    "state" TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (
        CASE WHEN "verifiedAt" IS NULL THEN 'pending' WHEN "expiresAt" IS NULL THEN 'verified' ELSE 'expiring' END
    ) STORED,
    "recordName" TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS ('_vestibule-challenge.' || "domain") STORED,
    "recordValue" TEXT COLLATE "C" NOT NULL,
    "problem" TEXT COLLATE "C",
    "verifiedAt" TIMESTAMPTZ(3),
    "expiresAt" TIMESTAMPTZ(3),
    "checkedAt" TIMESTAMPTZ(3),
    "nextCheckAt" TIMESTAMPTZ(3),
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "OrganizationDomain_pkey" PRIMARY KEY ("tenantId","id"),
    CONSTRAINT "OrganizationDomain_tenantId_organizationId_fkey" FOREIGN KEY ("tenantId", "organizationId") REFERENCES "Organization"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE UNIQUE INDEX "OrganizationDomain_domain_key" ON "OrganizationDomain"("tenantId", "organizationId", "domain");
-- Two organizations of a tenant cannot own one domain.
CREATE UNIQUE INDEX "OrganizationDomain_proven_key" ON "OrganizationDomain"("tenantId", "domain") WHERE ("verifiedAt" IS NOT NULL);
CREATE INDEX "OrganizationDomain_nextCheckAt_idx" ON "OrganizationDomain"("nextCheckAt") WHERE ("nextCheckAt" IS NOT NULL);
CREATE TRIGGER "OrganizationDomain_tenant" BEFORE UPDATE OF "tenantId" ON "OrganizationDomain" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
