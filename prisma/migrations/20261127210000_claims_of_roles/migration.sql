-- Claims of roles, groups and organizations, and the mappings of an API.
ALTER TABLE "Client" ADD COLUMN "groupsClaim" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "Api" ADD COLUMN "groupsInTokens" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "claimMappings" JSONB NOT NULL DEFAULT '[]';
