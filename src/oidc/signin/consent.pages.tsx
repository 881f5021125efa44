import type { VNode } from 'preact'
import {
  Given,
  initialOf,
  nameOf,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../pages/page-shell.pages.tsx'

/** The person who is signed in; pages show the name and the address when they have them. */
export type PagePerson = { name?: string | null; email?: string | null; phoneNumber?: string | null }

/** Who is signed in, by the best names there are. */
export function PersonLine({ person }: { person: PagePerson }): VNode {
  const address = person.email || person.phoneNumber
  const shown = [person.name, address].filter(Boolean) as string[]
  return (
    <div class="person">
      <span class="person-mark" aria-hidden="true">
        {initialOf(shown[0] ?? '?')}
      </span>
      <div class="person-text">
        <span class="hint">Signed in as</span>
        {shown.map((text, index) => (
          <span class={index === 0 ? 'person-name' : 'hint'} key={text}>
            <Given>{text}</Given>
          </span>
        ))}
      </div>
    </div>
  )
}

export type ConsentPageProps = {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  person: PagePerson
  /** What the client asks for, in plain words (`asksOf`, `asksOfClaims`), each once. */
  asks: readonly { words: string }[]
}

/** Who is being asked, and a way out for whom that is not. Posts `step=switch`. */
export const AskedPerson = ({
  interaction,
  person,
}: Pick<ConsentPageProps, 'interaction' | 'person'>): VNode => (
  <div class="signed-in">
    <PersonLine person={person} />
    <StepForm interaction={interaction} step="switch">
      <button type="submit" class="quiet">
        Not you?
      </button>
    </StepForm>
  </div>
)

/** Whose application it is, where only its own document says its name: that name may be anybody's, the host is not. */
export const Publisher = ({ client }: Pick<ConsentPageProps, 'client'>): VNode | null =>
  client.registeredBy === 'document' && client.id ? (
    <p>
      It is published by{' '}
      <strong>
        <Given>{new URL(client.id).host}</Given>
      </strong>
      . Nobody has checked it here: go on only if you trust that site.
    </p>
  ) : null

/** What is asked for, in plain words. */
export const Asks = ({ asks }: Pick<ConsentPageProps, 'asks'>): VNode => (
  <section>
    <h2 id="asks">It will be able to:</h2>
    {/* biome-ignore lint/a11y/noRedundantRoles: VoiceOver takes a list without bullets for no list. */}
    <ul class="asks" role="list" aria-labelledby="asks">
      {asks.map((ask) => (
        <li key={ask.words}>
          <Given>{ask.words}</Given>
        </li>
      ))}
    </ul>
  </section>
)

/** Posts `step=allow` or `step=deny`. */
export const AllowOrDeny = ({ interaction }: Pick<ConsentPageProps, 'interaction'>): VNode => (
  <StepForm interaction={interaction} class="choice">
    <button type="submit" name="step" value="allow" class="primary">
      Allow
    </button>
    <button type="submit" name="step" value="deny" class="secondary">
      Deny
    </button>
  </StepForm>
)

/** Asks whether a client may have what it asks for. Posts `step=allow`, `step=deny` or `step=switch` (not you). */
export const ConsentPage = ({ tenant, client, interaction, person, asks }: ConsentPageProps): VNode => (
  <PageShell
    title={`Allow ${client.name}?`}
    heading={
      <>
        Allow <Given>{client.name}</Given>?
      </>
    }
    lead={
      <>
        <Given>{client.name}</Given> would like to use your <Given>{nameOf(tenant)}</Given> account.
      </>
    }
    tenant={tenant}
    client={client}
  >
    <Publisher client={client} />
    <AskedPerson interaction={interaction} person={person} />
    <Asks asks={asks} />
    <AllowOrDeny interaction={interaction} />
    <p class="hint">If you deny, you go back without sharing anything.</p>
  </PageShell>
)
