-- AlterTable
ALTER TABLE "IdentityProvider" ADD COLUMN     "upstreamLogout" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "ProviderSession" ADD COLUMN     "idToken" TEXT COLLATE "C";
