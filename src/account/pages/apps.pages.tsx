import type { VNode } from 'preact'
import { BidiText, type PageInteraction, type PageTenant, StepForm } from '../../pages/page-shell.pages.tsx'
import { AccountShell } from './account-shell.pages.tsx'
import { Moment } from './moment.pages.tsx'

/** An app that the user has given access to the account. */
export type ShownApp = { clientId: string; name: string; words: readonly string[]; since: Date }

type AppsPageProps = {
  tenant: PageTenant
  form: PageInteraction
  timeZone: string | null
  apps: readonly ShownApp[]
  /** There are more than the page shows. */
  hasMore: boolean
  notice?: string | null
  messages?: readonly string[]
}

/** Lists the apps that the user has consented to. Posts `step=remove` with `client`. */
export const AppsPage = ({ tenant, form, timeZone, apps, hasMore, ...shell }: AppsPageProps): VNode => (
  <AccountShell
    tenant={tenant}
    title="Apps with access"
    lead="These apps may use your account. If you remove the access of one, it asks again when you use it."
    {...shell}
  >
    {apps.length === 0 && <p class="hint">No app has access to your account.</p>}
    {apps.length > 0 && (
      // biome-ignore lint/a11y/noRedundantRoles: VoiceOver does not announce a list without bullets as a list.
      <ul class="messages" role="list">
        {apps.map(({ clientId, name, words, since }) => (
          <li class="message" key={clientId}>
            <h2>
              <BidiText>{name}</BidiText>
            </h2>
            <ul class="asks">
              {words.map((each) => (
                <li key={each}>
                  <BidiText>{each}</BidiText>
                </li>
              ))}
            </ul>
            <p class="hint">
              Since <Moment at={since} timeZone={timeZone} />
            </p>
            <StepForm interaction={form} step="remove">
              <input type="hidden" name="client" value={clientId} />
              <button type="submit" class="secondary" aria-label={`Remove access: ${name}`}>
                Remove access
              </button>
            </StepForm>
          </li>
        ))}
      </ul>
    )}
    {hasMore && <p class="hint">There are more. They appear when you remove the access of these.</p>}
  </AccountShell>
)
