-- AlterTable
ALTER TABLE "EnrollmentToken" ADD COLUMN     "sentTo" TEXT COLLATE "C";
