-- AlterTable
ALTER TABLE "IdentityProvider" ADD COLUMN     "clientSecretExpiresAt" TIMESTAMPTZ(3),
ADD COLUMN     "expectNonce" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "usePkce" BOOLEAN NOT NULL DEFAULT true;
