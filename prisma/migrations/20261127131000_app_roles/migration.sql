-- Sets of permissions, and who holds them.
CREATE TABLE "AppRole" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "description" TEXT COLLATE "C",
    "assignableTo" TEXT[] COLLATE "C",
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "AppRole_pkey" PRIMARY KEY ("tenantId","id"),
    CONSTRAINT "AppRole_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE UNIQUE INDEX "AppRole_name_key" ON "AppRole"("tenantId", "name");
CREATE TRIGGER "AppRole_tenant" BEFORE UPDATE OF "tenantId" ON "AppRole" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE TABLE "AppRolePermission" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "roleId" TEXT COLLATE "C" NOT NULL,
    "apiId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "AppRolePermission_pkey" PRIMARY KEY ("tenantId","roleId","apiId","name"),
    CONSTRAINT "AppRolePermission_tenantId_roleId_fkey" FOREIGN KEY ("tenantId", "roleId") REFERENCES "AppRole"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "AppRolePermission_tenantId_apiId_name_fkey" FOREIGN KEY ("tenantId", "apiId", "name") REFERENCES "ApiPermission"("tenantId", "apiId", "name") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "AppRolePermission_tenantId_apiId_name_roleId_idx" ON "AppRolePermission"("tenantId", "apiId", "name", "roleId");
CREATE TRIGGER "AppRolePermission_tenant" BEFORE UPDATE OF "tenantId" ON "AppRolePermission" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE TABLE "UserAppRole" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "roleId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "UserAppRole_pkey" PRIMARY KEY ("tenantId","userId","roleId"),
    CONSTRAINT "UserAppRole_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "UserAppRole_tenantId_roleId_fkey" FOREIGN KEY ("tenantId", "roleId") REFERENCES "AppRole"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "UserAppRole_tenantId_roleId_userId_idx" ON "UserAppRole"("tenantId", "roleId", "userId");
CREATE TRIGGER "UserAppRole_tenant" BEFORE UPDATE OF "tenantId" ON "UserAppRole" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE TABLE "ClientAppRole" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "roleId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "ClientAppRole_pkey" PRIMARY KEY ("tenantId","clientId","roleId"),
    CONSTRAINT "ClientAppRole_tenantId_clientId_fkey" FOREIGN KEY ("tenantId", "clientId") REFERENCES "Client"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "ClientAppRole_tenantId_roleId_fkey" FOREIGN KEY ("tenantId", "roleId") REFERENCES "AppRole"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "ClientAppRole_tenantId_roleId_clientId_idx" ON "ClientAppRole"("tenantId", "roleId", "clientId");
CREATE TRIGGER "ClientAppRole_tenant" BEFORE UPDATE OF "tenantId" ON "ClientAppRole" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
