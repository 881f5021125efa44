-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "cornerRadius" INTEGER NOT NULL DEFAULT 10,
ADD COLUMN     "darkLogoUrl" TEXT COLLATE "C",
ADD COLUMN     "darkThemeColor" TEXT COLLATE "C",
ADD COLUMN     "faviconUrl" TEXT COLLATE "C",
ADD COLUMN     "font" TEXT COLLATE "C" NOT NULL DEFAULT 'system',
ADD COLUMN     "themeColor" TEXT COLLATE "C";
