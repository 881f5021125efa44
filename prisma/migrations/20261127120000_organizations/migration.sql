-- AlterTable
ALTER TABLE "Event" ADD COLUMN     "organizationId" TEXT COLLATE "C";

-- CreateTable
CREATE TABLE "Organization" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "slug" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "logoUrl" TEXT COLLATE "C",
    "themeColor" TEXT COLLATE "C",
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "externalId" TEXT COLLATE "C",
    "nameKey" TEXT COLLATE "C" GENERATED ALWAYS AS (sort_key("name")) STORED,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Organization_pkey" PRIMARY KEY ("tenantId","id")
);

-- CreateTable
CREATE TABLE "OrganizationTerm" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "term" TEXT COLLATE "C" NOT NULL,
    "organizationId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "OrganizationTerm_pkey" PRIMARY KEY ("tenantId","term","organizationId")
);

-- CreateTable
CREATE TABLE "Membership" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "organizationId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "joinedVia" TEXT COLLATE "C" NOT NULL,
    "addedBy" TEXT COLLATE "C",
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Membership_pkey" PRIMARY KEY ("tenantId","id")
);

-- CreateIndex
CREATE INDEX "Organization_tenantId_nameKey_id_idx" ON "Organization"("tenantId", "nameKey", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Organization_slug_key" ON "Organization"("tenantId", "slug");

-- CreateIndex
CREATE UNIQUE INDEX "Organization_externalId_key" ON "Organization"("tenantId", "externalId");

-- CreateIndex
CREATE INDEX "OrganizationTerm_tenantId_organizationId_term_idx" ON "OrganizationTerm"("tenantId", "organizationId", "term");

-- CreateIndex
CREATE INDEX "Membership_tenantId_organizationId_id_idx" ON "Membership"("tenantId", "organizationId", "id");

-- CreateIndex
CREATE INDEX "Membership_tenantId_userId_id_idx" ON "Membership"("tenantId", "userId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Membership_user_key" ON "Membership"("tenantId", "organizationId", "userId");

-- CreateIndex
CREATE INDEX "Event_tenantId_organizationId_era_xid_seq_idx" ON "Event"("tenantId", "organizationId", "era", "xid", "seq") WHERE ("organizationId" IS NOT NULL);

-- AddForeignKey
ALTER TABLE "Organization" ADD CONSTRAINT "Organization_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "OrganizationTerm" ADD CONSTRAINT "OrganizationTerm_tenantId_organizationId_fkey" FOREIGN KEY ("tenantId", "organizationId") REFERENCES "Organization"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "Membership" ADD CONSTRAINT "Membership_tenantId_organizationId_fkey" FOREIGN KEY ("tenantId", "organizationId") REFERENCES "Organization"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "Membership" ADD CONSTRAINT "Membership_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;
CREATE TRIGGER "Organization_tenant" BEFORE UPDATE OF "tenantId" ON "Organization" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
CREATE TRIGGER "OrganizationTerm_tenant" BEFORE UPDATE OF "tenantId" ON "OrganizationTerm" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
CREATE TRIGGER "Membership_tenant" BEFORE UPDATE OF "tenantId" ON "Membership" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

-- What a search finds an organization by: the words of the name and of the slug.
CREATE FUNCTION organization_words(name TEXT, slug TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT COALESCE(array_agg(DISTINCT left(word, 64) COLLATE "C"), '{}')
    FROM unnest(words_of(name) || words_of(slug) || slug
        || CASE WHEN has_unspaced_script(name) THEN word_ends(words_of(name)) ELSE '{}' END) word
$$;

CREATE FUNCTION add_organization_terms() RETURNS trigger LANGUAGE plpgsql SET jit = off AS $$
BEGIN
    INSERT INTO "OrganizationTerm" ("tenantId", "term", "organizationId")
    SELECT o."tenantId", word, o."id" FROM changed o, unnest(organization_words(o."name", o."slug")) word;
    RETURN NULL;
END $$;

CREATE FUNCTION change_organization_terms() RETURNS trigger LANGUAGE plpgsql SET jit = off AS $$
DECLARE
    words TEXT[] := organization_words(NEW."name", NEW."slug");
BEGIN
    DELETE FROM "OrganizationTerm" WHERE "tenantId" = NEW."tenantId" AND "organizationId" = NEW."id" AND "term" <> ALL(words);
    INSERT INTO "OrganizationTerm" ("tenantId", "term", "organizationId") SELECT NEW."tenantId", word, NEW."id" FROM unnest(words) word
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER "Organization_terms_insert" AFTER INSERT ON "Organization" REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION add_organization_terms();
-- Row by row, so that a change of anything else asks nothing.
CREATE TRIGGER "Organization_terms_update" AFTER UPDATE ON "Organization" FOR EACH ROW
    WHEN ((OLD."name", OLD."slug") IS DISTINCT FROM (NEW."name", NEW."slug"))
    EXECUTE FUNCTION change_organization_terms();
