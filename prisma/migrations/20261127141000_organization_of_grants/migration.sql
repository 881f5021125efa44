-- Whether a client asks for the organization of its users.
ALTER TABLE "Client" ADD COLUMN "organization" TEXT COLLATE "C" NOT NULL DEFAULT 'none';
-- The organization that tokens of a grant are for. A member who leaves keeps the grant, which gives nothing then.
ALTER TABLE "Grant" ADD COLUMN "organizationId" TEXT COLLATE "C";
-- The organization that the user of a session last chose.
ALTER TABLE "Session" ADD COLUMN "organizationId" TEXT COLLATE "C";
