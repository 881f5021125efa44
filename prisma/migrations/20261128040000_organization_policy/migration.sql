-- What an organization demands of those who use tokens for it, beyond what the tenant demands.
ALTER TABLE "Organization" ADD COLUMN "signInMethods" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    ADD COLUMN "requireSecondFactor" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "sessionLifetimeSeconds" INTEGER,
    ADD COLUMN "allowedNetworks" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[];
