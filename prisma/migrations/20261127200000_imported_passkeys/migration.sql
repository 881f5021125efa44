ALTER TABLE "Credential" ADD COLUMN "userHandle" TEXT COLLATE "C";
