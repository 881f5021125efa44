-- The management roles that a tenant defines. "User"."roles" has their names, beside those of the built-in roles.
CREATE TABLE "ManagementRole" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "description" TEXT COLLATE "C",
    "scopes" TEXT[] COLLATE "C",
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ManagementRole_pkey" PRIMARY KEY ("tenantId","id"),
    CONSTRAINT "ManagementRole_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE UNIQUE INDEX "ManagementRole_name_key" ON "ManagementRole"("tenantId", "name");
CREATE TRIGGER "ManagementRole_tenant" BEFORE UPDATE OF "tenantId" ON "ManagementRole" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
