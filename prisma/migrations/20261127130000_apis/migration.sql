-- Resource servers and their permissions.
CREATE TABLE "Api" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "identifier" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "description" TEXT COLLATE "C",
    "translations" JSONB NOT NULL DEFAULT '[]',
    "tokenExpiryTime" INTEGER,
    "permissionsInTokens" BOOLEAN NOT NULL DEFAULT true,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Api_pkey" PRIMARY KEY ("tenantId","id"),
    CONSTRAINT "Api_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE UNIQUE INDEX "Api_identifier_key" ON "Api"("tenantId", "identifier");
CREATE TRIGGER "Api_tenant" BEFORE UPDATE OF "tenantId" ON "Api" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE TABLE "ApiPermission" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "apiId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "description" TEXT COLLATE "C",
    "translations" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "ApiPermission_pkey" PRIMARY KEY ("tenantId","apiId","name"),
    CONSTRAINT "ApiPermission_tenantId_apiId_fkey" FOREIGN KEY ("tenantId", "apiId") REFERENCES "Api"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE TRIGGER "ApiPermission_tenant" BEFORE UPDATE OF "tenantId" ON "ApiPermission" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

-- Processes cache the APIs of a tenant with the resources that clients declare.
CREATE TRIGGER "Api_insert_declared-resources" AFTER INSERT ON "Api" REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION record_row_changes('declared-resources');
CREATE TRIGGER "Api_update_declared-resources" AFTER UPDATE ON "Api" REFERENCING NEW TABLE AS changed OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION record_row_changes('declared-resources');
CREATE TRIGGER "Api_delete_declared-resources" AFTER DELETE ON "Api" REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION record_row_changes('declared-resources');
