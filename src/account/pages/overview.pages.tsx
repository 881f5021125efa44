import type { VNode } from 'preact'
import { BidiText, getTenantName, PageShell, type PageTenant } from '../../pages/page-shell.pages.tsx'
import { type PagePerson, PersonLine } from '../../pages/person.pages.tsx'

type OverviewPageProps = {
  tenant: PageTenant
  person: PagePerson
}

/** The other account pages, by the last segments of their paths. */
const SECTIONS = [
  { path: 'profile', title: 'Your profile', words: 'Name, language and more' },
  { path: 'addresses', title: 'E-mail and phone', words: 'Where we send your codes' },
  {
    path: 'sign-in-methods',
    title: 'How you sign in',
    words: 'Passkeys, authenticator app, recovery codes and linked accounts',
  },
  { path: 'sessions', title: 'Where you are signed in', words: 'Browsers and apps, and signing out of them' },
  { path: 'apps', title: 'Apps with access', words: 'What they may do, and removing their access' },
  { path: 'data', title: 'Your data', words: 'Download what is stored about you' },
] as const

/** The first account page: who is signed in, and the way to everything else. */
export const OverviewPage = ({ tenant, person }: OverviewPageProps): VNode => (
  <PageShell
    title="Your account"
    lead={
      <>
        at <BidiText>{getTenantName(tenant)}</BidiText>
      </>
    }
    tenant={tenant}
    wide
  >
    <div class="signed-in">
      <PersonLine person={person} />
      <a class="button quiet" href={`/${tenant.tenantId}/oidc/logout`}>
        Sign out
      </a>
    </div>
    <nav aria-label="Your account">
      {/* biome-ignore lint/a11y/noRedundantRoles: VoiceOver does not announce a list without bullets as a list. */}
      <ul class="messages" role="list">
        {SECTIONS.map(({ path, title, words }) => (
          <li key={path}>
            <a class="section" href={`/${tenant.tenantId}/account/${path}`}>
              <span class="person-name">{title}</span>
              <span class="hint">{words}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  </PageShell>
)
