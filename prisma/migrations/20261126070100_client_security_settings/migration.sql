-- Security settings of clients, and the profile that implies them.
ALTER TABLE "Client"
  ADD COLUMN "profile" TEXT COLLATE "C",
  ADD COLUMN "requirePkce" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "tokenEndpointAuthMethod" TEXT COLLATE "C",
  ADD COLUMN "requireIssuerAudience" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "requireFapiAlgorithms" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "dpopBoundAccessTokens" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "rotateRefreshTokens" BOOLEAN NOT NULL DEFAULT true;
