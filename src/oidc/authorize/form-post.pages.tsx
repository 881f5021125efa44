import type { VNode } from 'preact'
import { toSafeLink } from '../../core/safe-link.ts'
import { FORM_POST_SCRIPT_PATH } from '../../pages/assets/form-post-script.ts'
import { BidiText, type PageClient, PageShell, type PageTenant } from '../../pages/page-shell.pages.tsx'

type FormPostPageProps = {
  tenant: PageTenant
  client: PageClient
  /** Where the form goes. */
  redirectUri: string
  fields: readonly (readonly [name: string, value: string])[]
}

/**
 * Posts an authorization response to the client (OAuth 2.0 Form Post Response Mode, section 2); a script
 * submits the form.
 */
export const FormPostPage = ({ tenant, client, redirectUri, fields }: FormPostPageProps): VNode => (
  <PageShell
    title={`Back to ${client.name}`}
    heading={
      <>
        Back to <BidiText>{client.name}</BidiText>
      </>
    }
    lead="If nothing happens, press the button."
    tenant={tenant}
    client={client}
  >
    <form method="post" action={toSafeLink(redirectUri) ?? undefined} id="answer">
      {fields.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class="primary">
        Continue
      </button>
    </form>
    <script src={FORM_POST_SCRIPT_PATH} defer />
  </PageShell>
)
