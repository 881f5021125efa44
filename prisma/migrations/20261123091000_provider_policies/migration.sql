-- AlterTable
ALTER TABLE "IdentityProvider" ADD COLUMN     "claims" JSONB,
ADD COLUMN     "copyClaims" TEXT COLLATE "C" NOT NULL DEFAULT 'once',
ADD COLUMN     "domains" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "entry" TEXT COLLATE "C" NOT NULL DEFAULT 'linked',
ADD COLUMN     "trustEmail" BOOLEAN NOT NULL DEFAULT false;
