import type { VNode } from 'preact'
import {
  Given,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../pages/page-shell.pages.tsx'
import { type PagePerson, PersonLine } from './consent.pages.tsx'

type SelectPageProps = {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  person: PagePerson
}

/** Asks whether to go on as the person who is signed in (prompt=select_account). Posts `step=continue` or `step=switch`. */
export const SelectPage = ({ tenant, client, interaction, person }: SelectPageProps): VNode => (
  <PageShell
    title="Choose an account"
    lead={
      <>
        to continue to <Given>{client.name}</Given>
      </>
    }
    tenant={tenant}
    client={client}
  >
    <div class="signed-in">
      <PersonLine person={person} />
    </div>
    <StepForm interaction={interaction} class="choice">
      <button type="submit" name="step" value="continue" class="primary">
        Continue
      </button>
      <button type="submit" name="step" value="switch" class="secondary">
        Use another account
      </button>
    </StepForm>
  </PageShell>
)
