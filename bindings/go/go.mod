module cambium.example/cambium

go 1.23
