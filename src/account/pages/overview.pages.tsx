import type { VNode } from 'preact'
import { BidiText, getTenantName, PageShell, type PageTenant } from '../../pages/page-shell.pages.tsx'
import { LinkButton, PlainList } from '../../pages/parts/controls.pages.tsx'
import { type PagePerson, PersonLine } from '../../pages/parts/person.pages.tsx'
import { Message, useWords } from '../../pages/parts/words.pages.tsx'
import { Moment } from './moment.pages.tsx'

type OverviewPageProps = {
  tenant: PageTenant
  person: PagePerson
  /** The user may create API keys, or has some. */
  hasKeys?: boolean
  /** The user belongs to an organization, or is invited to one. */
  hasOrganizations?: boolean
  /** The user may delete the account, or has asked for it. */
  canDelete?: boolean
  /** From when on the account is deleted; null without a request. */
  deletedAt?: Date | null
  timeZone?: string | null
}

/** The other account pages, by the last segments of their paths. */
const SECTIONS = [
  { path: 'profile', title: 'account.profile', words: 'account.profileText' },
  { path: 'addresses', title: 'account.addresses', words: 'account.addressesText' },
  {
    path: 'sign-in-methods',
    title: 'account.methods',
    words: 'account.methodsText',
  },
  { path: 'sessions', title: 'account.sessions', words: 'account.sessionsText' },
  { path: 'apps', title: 'account.apps', words: 'account.appsText' },
] as const
const ORGANIZATIONS_SECTION = {
  path: 'organizations',
  title: 'account.organizations',
  words: 'account.organizationsText',
} as const
const KEYS_SECTION = { path: 'api-keys', title: 'account.apiKeys', words: 'account.apiKeysText' } as const
const DATA_SECTION = { path: 'data', title: 'account.data', words: 'account.dataText' } as const
const DELETION_SECTION = {
  path: 'deletion',
  title: 'account.deletion',
  words: 'account.deletionText',
} as const

/** The first account page: who is signed in, and the way to everything else. */
export const OverviewPage = ({
  tenant,
  person,
  canDelete = false,
  hasKeys = false,
  hasOrganizations = false,
  deletedAt = null,
  timeZone = null,
}: OverviewPageProps): VNode => (
  <PageShell
    title={<Message of="account.title" />}
    lead={<Message of="account.lead" tenant={<BidiText>{getTenantName(tenant)}</BidiText>} />}
    tenant={tenant}
    wide
  >
    {deletedAt && (
      <p class="pending">
        <Message of="deletion.pending" time={<Moment at={deletedAt} timeZone={timeZone} />} />
      </p>
    )}
    <div class="signed-in">
      <PersonLine person={person} />
      <LinkButton href={`/${tenant.tenantId}/account/switch`} of="account.switch" look="quiet" />
      <LinkButton href={`/${tenant.tenantId}/oidc/logout`} of="action.signOut" look="quiet" />
    </div>
    <nav aria-label={useWords().text('account.title')}>
      <PlainList class="messages">
        {[
          ...SECTIONS,
          ...(hasOrganizations ? [ORGANIZATIONS_SECTION] : []),
          ...(hasKeys ? [KEYS_SECTION] : []),
          DATA_SECTION,
          ...(canDelete ? [DELETION_SECTION] : []),
        ].map(({ path, title, words }) => (
          <li key={path}>
            <a class="section" href={`/${tenant.tenantId}/account/${path}`}>
              <span class="person-name">
                <Message of={title} />
              </span>
              <span class="hint">
                <Message of={words} />
              </span>
            </a>
          </li>
        ))}
      </PlainList>
    </nav>
  </PageShell>
)
