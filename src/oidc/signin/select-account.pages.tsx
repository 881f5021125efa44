import type { VNode } from 'preact'
import {
  BidiText,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../../pages/page-shell.pages.tsx'
import { type PagePerson, PersonLine } from '../../pages/person.pages.tsx'
import { CancelForm } from './cancel.pages.tsx'

type SelectPageProps = {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  person: PagePerson
}

/**
 * Asks whether to continue as the signed-in user (prompt=select_account). Posts `step=continue`,
 * `step=switch` or `step=cancel`.
 */
export const SelectAccountPage = ({ tenant, client, interaction, person }: SelectPageProps): VNode => (
  <PageShell
    title="Choose an account"
    lead={
      <>
        to continue to <BidiText>{client.name}</BidiText>
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
    <div class="alternatives">
      <CancelForm interaction={interaction} />
    </div>
  </PageShell>
)
