package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

func setCookie(w http.ResponseWriter, name, value string) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: 600, HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

func main() {
	provider, err := oidc.NewProvider(context.Background(), os.Getenv("ISSUER"))
	if err != nil {
		log.Fatal(err)
	}
	redirect, err := url.Parse(os.Getenv("REDIRECT_URI"))
	if err != nil {
		log.Fatal(err)
	}
	config := oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		Endpoint:     provider.Endpoint(),
		RedirectURL:  redirect.String(),
		Scopes:       []string{oidc.ScopeOpenID, "email", "profile"},
	}

	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `<!doctype html><a href="/sign-in">Sign in</a>`)
	})

	http.HandleFunc("/sign-in", func(w http.ResponseWriter, r *http.Request) {
		state, verifier := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
		setCookie(w, "state", state)
		setCookie(w, "verifier", verifier)
		http.Redirect(w, r, config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), http.StatusFound)
	})

	http.HandleFunc(redirect.Path, func(w http.ResponseWriter, r *http.Request) {
		state, err := r.Cookie("state")
		verifier, missing := r.Cookie("verifier")
		if err != nil || missing != nil || r.FormValue("state") != state.Value {
			http.Error(w, "The sign-in did not start here.", http.StatusBadRequest)
			return
		}
		token, err := config.Exchange(r.Context(), r.FormValue("code"), oauth2.VerifierOption(verifier.Value))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		idToken, _ := token.Extra("id_token").(string)
		if _, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(r.Context(), idToken); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		user, err := provider.UserInfo(r.Context(), config.TokenSource(r.Context(), token))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintf(w, "Signed in as %s", user.Email)
	})

	log.Fatal(http.ListenAndServe(":"+redirect.Port(), nil))
}
