-- Administrators of organizations, and what an invitation to an organization gives besides the membership.
ALTER TABLE "Membership" ADD COLUMN "isAdministrator" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "Invitation" ADD COLUMN "appRoleIds" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
ADD COLUMN "isAdministrator" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "byAdministrator" BOOLEAN NOT NULL DEFAULT false;
