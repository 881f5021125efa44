import { deployment } from '../../config.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { PAGE_LANGUAGES } from '../../parts/languages.ts'
import {
  CheckSetting,
  ChoiceSetting,
  LinesSetting,
  NumberSetting,
  TextSetting,
} from '../../parts/setting-fields.tsx'
import { SettingsForm } from '../../parts/settings-form.tsx'

/** The settings of the tenant that are not about the sign-in or the brand. */
export const SettingsScreen = () => (
  <SettingsForm title="Tenant">
    <div className="setting-cards">
      <section className="card">
        <h2>Name</h2>
        <TextSetting name="friendlyName" hint="On pages and in mails. Without one, it is the slug." />
        <div className="field">
          <span>Slug</span>
          <CopiedText text={deployment.tenant} />
          <p className="hint">It is part of the URLs of the tenant and never changes.</p>
        </div>
        <div className="field">
          <span>Issuer</span>
          <CopiedText text={deployment.issuer} />
        </div>
      </section>
      <section className="card">
        <h2>People</h2>
        <TextSetting
          name="supportUrl"
          type="url"
          placeholder="https://"
          hint="Linked from every page and mail."
        />
        <ChoiceSetting name="defaultLocale" options={{ '': 'English', ...PAGE_LANGUAGES }} />
      </section>
      <section className="card">
        <h2>Log</h2>
        <NumberSetting name="eventRetentionDays" hint="7 to 365." />
      </section>
      <section className="card">
        <h2>Applications</h2>
        <TextSetting
          name="loginUrl"
          type="url"
          placeholder="https://"
          hint="Sign-ins start there instead of on the page of this server."
        />
        <TextSetting name="defaultAudience" hint="When a request names no resource." />
        <LinesSetting name="defaultScopes" hint="One a line, such as openid and email." />
        <CheckSetting
          name="dynamicRegistration"
          hint="Applications register themselves with a token that an administrator issued."
        />
        <CheckSetting
          name="openRegistration"
          hint="Anybody registers an application, which nobody reviews."
        />
        <CheckSetting
          name="clientIdMetadataDocuments"
          hint="The JSON document at the URL describes the application."
        />
      </section>
    </div>
  </SettingsForm>
)
