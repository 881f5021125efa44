-- The claims that the tokens of a client have besides those of OpenID Connect.
ALTER TABLE "Client" ADD COLUMN "claimMappings" JSONB NOT NULL DEFAULT '[]';
