# A static binary, with git beside it for --staged and --since, run by nobody in particular.
FROM rust:1-alpine AS build
RUN apk add --no-cache musl-dev
WORKDIR /source
COPY Cargo.toml Cargo.lock sqslint.schema.json ./
COPY src src
COPY rules rules
RUN cargo build --release --locked

FROM alpine:3
# What is mounted belongs to somebody else.
RUN apk add --no-cache git && git config --system --add safe.directory '*'
COPY --from=build /source/target/release/sqslint /usr/local/bin/sqslint
USER 65534:65534
WORKDIR /src
ENTRYPOINT ["/usr/local/bin/sqslint"]
CMD ["check"]
