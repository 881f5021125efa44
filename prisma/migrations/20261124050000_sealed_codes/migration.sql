-- An authorization code carries its contents, sealed. The grant that it creates makes it single-use.
DROP TABLE "AuthorizationCode";

-- A code of an earlier generation is void.
ALTER TABLE "User" ADD COLUMN "codeGeneration" INTEGER NOT NULL DEFAULT 0;
