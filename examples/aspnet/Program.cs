using Microsoft.AspNetCore.Authentication.Cookies;
using Microsoft.AspNetCore.Authentication.OpenIdConnect;

var builder = WebApplication.CreateBuilder(args);
builder.Services.AddAuthorization();
builder.Services
    .AddAuthentication(options =>
    {
        options.DefaultScheme = CookieAuthenticationDefaults.AuthenticationScheme;
        options.DefaultChallengeScheme = OpenIdConnectDefaults.AuthenticationScheme;
    })
    .AddCookie()
    .AddOpenIdConnect(options =>
    {
        options.Authority = "http://localhost:3000/demo";
        options.ClientId = "your-client-id";
        options.ClientSecret = builder.Configuration["CLIENT_SECRET"];
        options.CallbackPath = "/signin-oidc";
        options.ResponseType = "code";
        options.ResponseMode = "query";
        options.Scope.Add("email");
        options.GetClaimsFromUserInfoEndpoint = true;
        options.MapInboundClaims = false;
        options.RequireHttpsMetadata = false; // http, in development only
        options.CorrelationCookie.SameSite = SameSiteMode.Lax; // http, in development only
        options.CorrelationCookie.SecurePolicy = CookieSecurePolicy.SameAsRequest; // http, in development only
        options.NonceCookie.SameSite = SameSiteMode.Lax; // http, in development only
        options.NonceCookie.SecurePolicy = CookieSecurePolicy.SameAsRequest; // http, in development only
    });

var app = builder.Build();
app.UseAuthentication();
app.UseAuthorization();
app.MapGet("/", (HttpContext context) => $"Signed in as {context.User.FindFirst("email")?.Value}").RequireAuthorization();
app.Run();
