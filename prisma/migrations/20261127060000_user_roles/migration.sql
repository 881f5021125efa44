-- Users with roles, which are few.
CREATE INDEX "User_roles_idx" ON "User"("tenantId", "id", "roles") WHERE ("roles" <> '{}');
