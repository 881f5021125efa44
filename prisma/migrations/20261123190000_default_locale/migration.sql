ALTER TABLE "Tenant" ADD COLUMN     "defaultLocale" TEXT COLLATE "C";
