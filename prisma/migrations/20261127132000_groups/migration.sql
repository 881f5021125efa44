-- Roles of members of organizations, and groups.
CREATE TABLE "MembershipAppRole" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "membershipId" TEXT COLLATE "C" NOT NULL,
    "roleId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "MembershipAppRole_pkey" PRIMARY KEY ("tenantId", "membershipId", "roleId"),
    CONSTRAINT "MembershipAppRole_tenantId_membershipId_fkey" FOREIGN KEY ("tenantId", "membershipId") REFERENCES "Membership"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "MembershipAppRole_tenantId_roleId_fkey" FOREIGN KEY ("tenantId", "roleId") REFERENCES "AppRole"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "MembershipAppRole_tenantId_roleId_membershipId_idx" ON "MembershipAppRole"("tenantId", "roleId", "membershipId");
CREATE TRIGGER "MembershipAppRole_tenant" BEFORE UPDATE OF "tenantId" ON "MembershipAppRole" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE TABLE "Group" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "description" TEXT COLLATE "C",
    "organizationId" TEXT COLLATE "C",
    "parentId" TEXT COLLATE "C",
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Group_pkey" PRIMARY KEY ("tenantId","id"),
    CONSTRAINT "Group_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "Group_tenantId_organizationId_fkey" FOREIGN KEY ("tenantId", "organizationId") REFERENCES "Organization"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "Group_tenantId_parentId_fkey" FOREIGN KEY ("tenantId", "parentId") REFERENCES "Group"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE UNIQUE INDEX "Group_name_key" ON "Group"("tenantId", "name") WHERE ("organizationId" IS NULL);
CREATE UNIQUE INDEX "Group_organization_name_key" ON "Group"("tenantId", "organizationId", "name");
CREATE INDEX "Group_tenantId_parentId_idx" ON "Group"("tenantId", "parentId");
CREATE TRIGGER "Group_tenant" BEFORE UPDATE OF "tenantId" ON "Group" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE TABLE "GroupMember" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "groupId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "organizationId" TEXT COLLATE "C",

    CONSTRAINT "GroupMember_pkey" PRIMARY KEY ("tenantId", "groupId", "userId"),
    CONSTRAINT "GroupMember_tenantId_groupId_fkey" FOREIGN KEY ("tenantId", "groupId") REFERENCES "Group"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "GroupMember_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "GroupMember_tenantId_organizationId_userId_fkey" FOREIGN KEY ("tenantId", "organizationId", "userId") REFERENCES "Membership"("tenantId", "organizationId", "userId") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "GroupMember_tenantId_userId_groupId_idx" ON "GroupMember"("tenantId", "userId", "groupId");
CREATE INDEX "GroupMember_tenantId_organizationId_userId_idx" ON "GroupMember"("tenantId", "organizationId", "userId");
CREATE TRIGGER "GroupMember_tenant" BEFORE UPDATE OF "tenantId" ON "GroupMember" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE TABLE "GroupAppRole" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "groupId" TEXT COLLATE "C" NOT NULL,
    "roleId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "GroupAppRole_pkey" PRIMARY KEY ("tenantId", "groupId", "roleId"),
    CONSTRAINT "GroupAppRole_tenantId_groupId_fkey" FOREIGN KEY ("tenantId", "groupId") REFERENCES "Group"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "GroupAppRole_tenantId_roleId_fkey" FOREIGN KEY ("tenantId", "roleId") REFERENCES "AppRole"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "GroupAppRole_tenantId_roleId_groupId_idx" ON "GroupAppRole"("tenantId", "roleId", "groupId");
CREATE TRIGGER "GroupAppRole_tenant" BEFORE UPDATE OF "tenantId" ON "GroupAppRole" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
