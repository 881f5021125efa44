-- AlterTable
ALTER TABLE "Client" ADD COLUMN     "defaultMaxAge" INTEGER;

-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "sessionIdleSeconds" INTEGER NOT NULL DEFAULT 43200,
ADD COLUMN     "sessionLifetimeSeconds" INTEGER NOT NULL DEFAULT 2592000,
ADD COLUMN     "staySignedIn" TEXT COLLATE "C" NOT NULL DEFAULT 'always';
